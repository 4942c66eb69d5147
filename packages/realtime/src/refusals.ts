import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers a rejected handshake, and closes the socket. */
export function refuse(socket: Duplex, status: 401 | 404 | 503, message: string): void {
  // An error without a listener ends the process.
  socket.on('error', () => socket.destroy());
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ error: message });
  const headers = [
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(status === 503 ? ['Retry-After: 5'] : []),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}
