import type { Attributes } from './xml';

/** What stands between the parts of elements of MathML and of Office's formulas: without it 1 over 2 would be 12. */
const BETWEEN: Readonly<Record<string, readonly string[]>> = {
  mfrac: ['/'],
  msup: ['^'],
  msub: ['_'],
  msubsup: ['_', '^'],
  mover: ['^'],
  munder: ['_'],
  munderover: ['_', '^'],
  f: ['/'],
  sSup: ['^'],
  sSub: ['_'],
  sSubSup: ['_', '^'],
  nary: ['_', '^', ' '],
  rad: ['√'],
  d: [],
};
/** What begins the characters of a part that is looked at for signs. */
const BEGINNING = 200;

interface Frame {
  readonly name: string;
  /** Where its text begins. */
  readonly start: number;
  parts: number;
  begins: string;
  ends: string;
}

/** Writes formulas on one line, such as `(a+b)/2`, element by element. */
export class Formula {
  private readonly frames: Frame[] = [];

  /** `text` so far, with what stands before the element. */
  open(name: string, { val }: Attributes, text: string): string {
    const parent = this.frames.at(-1);
    const around = this.frames.at(-2);
    let before = name === 'msqrt' ? '√' : '';
    if (around?.name === 'd' && val !== undefined) {
      if (name === 'begChr') around.begins = val;
      else if (name === 'endChr') around.ends = val;
    } else if (name === 'chr' && around?.name === 'nary' && val !== undefined) around.begins = val;
    else if (parent !== undefined && parent.name in BETWEEN && !name.endsWith('Pr')) {
      before += parent.parts === 0 ? parent.begins : (BETWEEN[parent.name]?.[parent.parts - 1] ?? ', ');
      parent.parts += 1;
    }
    const [begins, ends] = name === 'd' ? ['(', ')'] : name === 'nary' ? ['∫', ''] : ['', ''];
    this.frames.push({ name, start: text.length + before.length, parts: 0, begins, ends });
    return text + before;
  }

  /** `text` so far, with what stands behind the element. */
  close(text: string): string {
    const frame = this.frames.pop();
    const parent = this.frames.at(-1);
    if (frame === undefined) return text;
    if (frame.ends !== '') return text + frame.ends;
    const inner = text.slice(frame.start);
    const isPart = parent !== undefined && parent.name !== 'd' && parent.name in BETWEEN;
    const isWhole = !/[^\p{L}\p{N}.,]/u.test(inner.slice(0, BEGINNING).trim());
    return isPart && !isWhole && frame.name !== 'd' && !(parent.name === 'nary' && frame.name === 'e')
      ? `${text.slice(0, frame.start)}(${inner})`
      : text;
  }
}
