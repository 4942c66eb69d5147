import { createParser } from 'eventsource-parser';

/** The data of each event: JSON, or the text that ends the stream. */
export function getEvents(text: string): unknown[] {
  const events: unknown[] = [];
  const parser = createParser({
    onEvent: ({ data }) => events.push(data === '[DONE]' ? data : JSON.parse(data)),
  });
  parser.feed(text);
  return events;
}
