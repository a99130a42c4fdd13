/** What differs from run to run is left out of a transcript: ids, positions, times and the run's own stream names. */
export type Scrub = (value: unknown) => unknown;

const VARYING = /position$|^commit$|^prepare$|^created$|^metastreamRevision$/i;

export const scrubber = (run: string): Scrub => {
  const scrub: Scrub = (value) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'string') return scrubText(value, run);
    if (value instanceof Uint8Array) return `bytes(${value.length})`;
    if (value instanceof Date) return 'date';
    if (Array.isArray(value)) return value.map(scrub);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(
      ([key, field]) =>
        [key, VARYING.test(key) && field !== undefined && field !== null ? 'present' : scrub(field)] as const,
    );
    return Object.fromEntries(fields);
  };
  return scrub;
};

const scrubText = (text: string, run: string): string =>
  text
    .replaceAll(run, 'RUN')
    .replaceAll(/probe-RUN-[a-z]+\d+/g, 'STREAM')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');

/** A failure as a transcript tells it. */
export const failureOf = (error: unknown): Readonly<Record<string, unknown>> => {
  const { name, type, code, message, streamName, expectedVersion, actualVersion, maxAppendSize } = {
    ...ownFields(error),
    name: (error as Error).constructor.name,
    message: (error as Error).message,
  };
  return {
    error: name,
    type,
    code,
    message: message.split('\n')[0]?.slice(0, 220),
    streamName,
    expectedVersion,
    actualVersion,
    maxAppendSize,
  };
};

interface CommandFields {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly streamName?: unknown;
  readonly expectedVersion?: unknown;
  readonly actualVersion?: unknown;
  readonly maxAppendSize?: unknown;
}

const ownFields = (error: unknown): CommandFields => (typeof error === 'object' && error !== null ? error : {});
