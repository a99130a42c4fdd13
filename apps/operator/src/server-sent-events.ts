/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a byte stream as they arrive. Skips comments and empty events. */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let buffer = '';
  for await (const bytes of body) {
    buffer += decoder.decode(bytes, { stream: true });
    const blocks = buffer.split(/\r?\n\r?\n/);
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== undefined) yield event;
    }
  }
}

const eventOf = (block: string): ServerSentEvent | undefined => {
  const fields = block
    .split(/\r?\n/)
    .map((line) => /^(id|event|data): ?(.*)$/.exec(line))
    .filter((match) => match !== null);
  const values = (name: string): string[] => fields.filter((match) => match[1] === name).map((match) => match[2] ?? '');
  const data = values('data');
  return data.length === 0
    ? undefined
    : { id: values('id').at(-1) ?? '', event: values('event').at(-1) ?? 'message', data: data.join('\n') };
};
