import { randomBytes } from 'node:crypto';

/**
 * The small application that all examples extend with Questline: users sign in and keep notes. It depends
 * neither on Questline nor on a framework.
 */
export interface Person {
  /** 24 hexadecimal characters, like IDs of Questline, so that one ID serves both. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

const PEOPLE: readonly (Person & { readonly password: string })[] = [
  { id: 'ada000000000000000000001', email: 'ada@example.com', name: 'Ada', password: 'analytical' },
  { id: 'b0b000000000000000000002', email: 'bob@example.com', name: 'Bob', password: 'builder' },
];

/** An error of the application, with its status. */
export class NotesError extends Error {
  override readonly name = 'NotesError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Notes {
  /** @returns the session's cookie. */
  signIn(input: unknown): string;
  /** The user to whom the cookie belongs. */
  whoIs(cookie: string | undefined): Person;
  list(person: Person): readonly string[];
  add(person: Person, input: unknown): readonly string[];
}

export function createNotes(): Notes {
  const sessions = new Map<string, Person>();
  const notes = new Map<string, string[]>();
  return {
    signIn(input) {
      const { email, password } = fields(input);
      const person = PEOPLE.find((one) => one.email === email && one.password === password);
      if (person === undefined) throw new NotesError(401, 'Who are you?');
      const session = randomBytes(16).toString('hex');
      sessions.set(session, person);
      return `session=${session}`;
    },
    whoIs(cookie) {
      const session = /(?:^|;\s*)session=([0-9a-f]+)/.exec(cookie ?? '')?.[1];
      const person = session === undefined ? undefined : sessions.get(session);
      if (person === undefined) throw new NotesError(401, 'Sign in first');
      return person;
    },
    list: (person) => notes.get(person.id) ?? [],
    add(person, input) {
      const { text } = fields(input);
      if (typeof text !== 'string' || text === '') throw new NotesError(400, 'A note needs a text');
      const all = [...(notes.get(person.id) ?? []), text];
      notes.set(person.id, all);
      return all;
    },
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The answer of the application's error handler. */
export function problem(error: unknown): { readonly status: number; readonly body: { problem: string } } {
  if (error instanceof NotesError) return { status: error.status, body: { problem: error.message } };
  return { status: 500, body: { problem: 'Something went wrong' } };
}
