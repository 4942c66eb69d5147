/**
 * Counts the bytes that parsers in this process allocate and inflate, because pdf.js has no limit of
 * its own. Changes globals: use it only in a reader's process. @param onExcess must end the process: a parser
 * may catch an exception and continue.
 * @returns a function that resets the count.
 */
export function countDecodedBytes(max: number, onExcess: () => never): () => void {
  let decoded = 0;
  const add = (bytes: number): void => {
    decoded += bytes;
    if (decoded > max) onExcess();
  };

  // A decoder doubles its buffer as it grows: the sum of all sizes is at most four times the output.
  globalThis.Uint8Array = new Proxy(globalThis.Uint8Array, {
    construct(target, parameters: unknown[], newTarget) {
      if (typeof parameters[0] === 'number') add(parameters[0] / 4);
      return Reflect.construct(target, parameters, newTarget) as object;
    },
  });

  // A proxy, so that the class of a stream stays the same.
  globalThis.DecompressionStream = new Proxy(globalThis.DecompressionStream, {
    construct(target, parameters) {
      const { readable, writable } = Reflect.construct(target, parameters) as DecompressionStream;
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          add(chunk.byteLength);
          controller.enqueue(chunk);
        },
      });
      return { readable: readable.pipeThrough(counter), writable };
    },
  });

  return () => {
    decoded = 0;
  };
}
