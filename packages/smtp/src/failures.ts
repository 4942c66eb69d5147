/**
 * Why a mail was not accepted. `unreachable`: no connection. `insecure`: no encryption, or an untrusted certificate.
 * `login`: the server refuses user or password. `sender`, `recipient`, `message`: the server refuses that.
 * `timeout`: it took too long. `protocol`: the server said something else.
 */
export type MailFailure =
  | 'unreachable'
  | 'insecure'
  | 'login'
  | 'sender'
  | 'recipient'
  | 'message'
  | 'timeout'
  | 'protocol';

const WORDS: Readonly<Record<MailFailure, string>> = {
  unreachable: 'the mail server cannot be reached',
  insecure: 'there is no encrypted way to the mail server',
  login: 'the mail server refuses the user or the password',
  sender: 'the mail server refuses the sender',
  recipient: 'the mail server refuses the recipient',
  message: 'the mail server refuses the message',
  timeout: 'the mail server took too long',
  protocol: 'the mail server said something unexpected',
};

/**
 * A mail that was not accepted. It contains neither the server's message nor a cause: servers quote what they receive, which
 * is an address, a code or a password.
 */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly failure: MailFailure;
  /** The code of the network or the server: `ECONNREFUSED`, `550`. */
  readonly code: string | undefined;

  constructor(failure: MailFailure, code?: string) {
    super(code === undefined ? WORDS[failure] : `${WORDS[failure]} (${code})`);
    this.failure = failure;
    this.code = code;
  }
}

/** What the library's own codes mean. Others come from the network. */
const FAILURES: Readonly<Record<string, MailFailure>> = {
  ETLS: 'insecure',
  EREQUIRETLS: 'insecure',
  EAUTH: 'login',
  ENOAUTH: 'login',
  EOAUTH2: 'login',
  EMESSAGE: 'message',
  ESTREAM: 'message',
  EMAXLIMIT: 'message',
  ETIMEDOUT: 'timeout',
  EPROTOCOL: 'protocol',
  ECONNECTION: 'unreachable',
  EDNS: 'unreachable',
  ESOCKET: 'unreachable',
};

/** What the envelope's parts are refused as, by the command that named them. */
const ENVELOPE: Readonly<Record<string, MailFailure>> = { 'MAIL FROM': 'sender', 'RCPT TO': 'recipient' };

/** @param error what the library rejects with. */
export function toFailure(error: unknown): MailError {
  if (error instanceof MailError) return error;
  const { code, originalCode, command, responseCode } = (error ?? {}) as {
    readonly [Name in 'code' | 'originalCode' | 'command' | 'responseCode']?: unknown;
  };
  // The network's or the certificate's own code stands behind the library's.
  const shown = [responseCode, originalCode].find(
    (one) => typeof one === 'number' || typeof one === 'string',
  );
  const detail = shown === undefined ? undefined : String(shown);
  if (typeof originalCode === 'string' && /CERT|SIGNATURE|SSL|TLS/.test(originalCode)) {
    return new MailError('insecure', detail);
  }
  if (code === 'EENVELOPE') {
    const refused = command === 'API' ? 'recipient' : ENVELOPE[String(command)];
    return new MailError(refused ?? 'message', detail);
  }
  return new MailError(FAILURES[String(code)] ?? 'protocol', detail);
}
