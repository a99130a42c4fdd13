/** The stages of a streamed answer in their order; text and sources go on by offset within theirs. */
export const STAGE = {
  start: 0,
  step: 1,
  textStart: 2,
  text: 3,
  textEnd: 4,
  source: 5,
  stepEnd: 6,
  finish: 7,
  done: 8,
} as const;

/** Where an event stands in the stream of an answer: the same however often and from wherever the answer is streamed. */
export interface StreamPlace {
  readonly stage: number;
  /** Of text, characters said up to and with the event; of sources, their number. */
  readonly offset: number;
}

export const isBehind = (place: StreamPlace, other: StreamPlace): boolean =>
  place.stage > other.stage || (place.stage === other.stage && place.offset > other.offset);

const FORM = /^([0-9a-f-]{36})\.([0-8])\.(\d{1,9})$/;

/** The id of an event: `<message id>.<stage>.<offset>`, opaque to its reader. */
export const placeText = (answerId: string, { stage, offset }: StreamPlace): string => `${answerId}.${stage}.${offset}`;

/** Undefined for text that is no such id. */
export const parsePlace = (text: string): { readonly answerId: string; readonly place: StreamPlace } | undefined => {
  const [, answerId, stage, offset] = FORM.exec(text) ?? [];
  return answerId === undefined ? undefined : { answerId, place: { stage: Number(stage), offset: Number(offset) } };
};
