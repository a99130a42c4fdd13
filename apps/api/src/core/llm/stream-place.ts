/**
 * The place of an event in the stream of an answer. It is the same in every stream of the answer, from any process.
 * Compares steps, parts and offsets, in this order.
 */
export interface StreamPlace {
  /** Calls of the model, from 0; `AFTER_STEPS` for the end of the answer. */
  readonly step: number;
  /** Parts of the message from 1, as it has them; 0 for what stands before those of the step, and `STEP_RESULTS` and more for what stands behind. */
  readonly part: number;
  /** Within the part: of text and reasoning, characters said up to and with the event; of others, which event it is. */
  readonly offset: number;
}

export const BEFORE_PARTS = 0;
/** What the tools that were called in a step gave. */
export const STEP_RESULTS = 100_000;
export const STEP_END = 100_001;
/** The stream ends where a call must be approved. */
export const STEP_WAITS = 100_002;
/** What was answered to calls that had to be approved, and what they gave. */
export const STEP_APPROVALS = 100_003;
export const AFTER_STEPS = 100_000;
/** The end of a text or reasoning, however long. */
export const PART_END = 999_999_999;

export const isBehind = (place: StreamPlace, other: StreamPlace): boolean =>
  (place.step - other.step || place.part - other.part || place.offset - other.offset) > 0;

/** The id of an event: `<message id>.<step>.<part>.<offset>-<digest of what was said until there>`, opaque to its reader. */
export const placeText = (answerId: string, { step, part, offset }: StreamPlace, digest?: number): string =>
  `${answerId}.${step}.${part}.${offset}${digest === undefined ? '' : `-${digest.toString(36)}`}`;

const FORM = /^([0-9a-f-]{36})\.(\d{1,6})\.(\d{1,6})\.(\d{1,9})(?:-([0-9a-z]{1,7}))?$/;
/** Ids of streams before answers had steps and parts: one of nine stages, and an offset. */
const STAGE_FORM = /^([0-9a-f-]{36})\.([0-8])\.(\d{1,9})$/;

/** Undefined for text that is no such id. */
export const parsePlace = (
  text: string,
): { readonly answerId: string; readonly place: StreamPlace; readonly digest?: number } | undefined => {
  const [, answerId, step, part, offset, digest] = FORM.exec(text) ?? [];
  if (answerId !== undefined) {
    const at = place(Number(step), Number(part), Number(offset));
    return { answerId, place: at, ...(digest === undefined ? {} : { digest: Number.parseInt(digest, 36) }) };
  }
  const [, earlier, stage, at] = STAGE_FORM.exec(text) ?? [];
  return earlier === undefined ? undefined : { answerId: earlier, place: placeOfStage(Number(stage), Number(at)) };
};

export const place = (step: number, part: number, offset: number): StreamPlace => ({ step, part, offset });

/** Answers had one step then: a text and the sources that it cites. */
const placeOfStage = (stage: number, offset: number): StreamPlace =>
  [
    place(0, BEFORE_PARTS, 0),
    place(0, BEFORE_PARTS, 1),
    place(0, 1, 0),
    place(0, 1, offset),
    place(0, 1, PART_END),
    place(0, 1 + offset, 0),
    place(0, STEP_END, 0),
    place(AFTER_STEPS, 0, 0),
  ][stage] ?? place(AFTER_STEPS, 0, 1);
