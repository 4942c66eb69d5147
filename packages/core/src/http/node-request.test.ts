import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NodeRequest, type NodeRequestOptions } from './node-request.ts';

function createRequest(incoming: object, options?: NodeRequestOptions) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress: '10.0.0.1' });
  const outgoing = Object.assign(new EventEmitter(), { destroyed: false, socket });
  const given = { method: 'PUT', url: '/a?b=1', headers: { a: 'b' }, socket, ...incoming };
  const request = new NodeRequest(
    given as unknown as IncomingMessage,
    outgoing as unknown as ServerResponse,
    options,
  );
  return { request, outgoing };
}

function read(request: NodeRequest) {
  const { method, path, query, headers, mountPath, params, remoteAddress, protocol } = request;
  return { method, path, query, headers, mountPath, params, remoteAddress, protocol };
}

describe('a request of node:http', () => {
  it('is that of its message', () => {
    const { request } = createRequest({});
    expect(read(request)).toEqual({
      ...{ method: 'PUT', path: '/a', query: 'b=1', headers: { a: 'b' }, params: undefined },
      ...{ mountPath: '', remoteAddress: '10.0.0.1', protocol: 'http' },
    });
  });

  it('has defaults for what a message does not have', () => {
    const { request } = createRequest({ method: undefined, url: undefined });
    expect(read(request)).toMatchObject({ method: 'GET', path: '/', query: '' });
  });

  it.each([
    ['/a/b', '/a/b', ''],
    ['/', '/', ''],
    ['/?a', '/', 'a'],
    ['/a?', '/a', ''],
    ['/a?b?c', '/a', 'b?c'],
    ['', '/', ''],
    ['?a=1', '/', 'a=1'],
    ['http://host/a?b', '/a', 'b'],
    ['http://host', '/', ''],
    ['http://host?b', '/', 'b'],
    ['http:///a', '/a', ''],
    ['://host/a', '/a', ''],
    ['/a?to=http://host/b', '/a', 'to=http://host/b'],
    ['*', '*', ''],
  ])('with the target %j has the path %s and the query %j', (url, path, query) => {
    const { request } = createRequest({ url });
    expect([request.path, request.query]).toEqual([path, query]);
  });

  it('has what the host found out', () => {
    const host = { ip: '192.0.2.1', protocol: 'https', body: { a: 1 } };
    const options = { mountPath: '/ai', target: '/x?y', params: { id: '1' }, host };
    expect(read(createRequest({}, options).request)).toMatchObject({
      ...{ path: '/x', query: 'y', mountPath: '/ai', params: { id: '1' } },
      ...{ remoteAddress: '192.0.2.1', protocol: 'https' },
    });
    expect(read(createRequest({}, { host: { ip: '', protocol: 'http' } }).request)).toMatchObject({
      remoteAddress: '10.0.0.1',
      protocol: 'http',
    });
  });

  it('is encrypted if its connection is', () => {
    const socket = Object.assign(new EventEmitter(), { encrypted: true });
    expect(createRequest({ socket }).request.protocol).toBe('https');
  });

  it('keeps its target when the host changes the message', () => {
    const incoming = { url: '/a' };
    const { request } = createRequest(incoming);
    incoming.url = '/mounted/a';
    expect(request.path).toBe('/a');
  });

  it('has one body, that of the source if there is one', async () => {
    const source = new PassThrough();
    source.end('ab');
    const incoming = { headers: { 'content-length': '2' }, httpVersionMajor: 1 };
    const { request } = createRequest(incoming, { source });
    expect(request.body).toBe(request.body);
    expect(Buffer.from(await request.body.bytes(2)).toString()).toBe('ab');
    const own = Object.assign(new PassThrough(), { ...incoming, url: '/' });
    own.end('cd');
    const plain = new NodeRequest(own as unknown as IncomingMessage, {} as ServerResponse);
    expect(Buffer.from(await plain.body.bytes(2)).toString()).toBe('cd');
  });

  it('has one signal and one connection, which stop when the client leaves', () => {
    const { request, outgoing } = createRequest({});
    const { signal, connection } = request;
    expect(request.signal).toBe(signal);
    expect(request.connection).toBe(connection);
    expect([signal.aborted, connection.aborted]).toEqual([false, false]);
    outgoing.emit('close');
    expect([signal.aborted, connection.aborted]).toEqual([true, true]);
  });
});
