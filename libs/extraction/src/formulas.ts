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
    const around = this.frames.at(-2);
    const isSign = around !== undefined && val !== undefined && this.sign(around, name, val);
    const before = `${name === 'msqrt' ? '√' : ''}${isSign ? '' : this.between(name)}`;
    const [begins, ends] = name === 'd' ? ['(', ')'] : name === 'nary' ? ['∫', ''] : ['', ''];
    this.frames.push({ name, start: text.length + before.length, parts: 0, begins, ends });
    return text + before;
  }

  /** Whether an element is of the properties of the one around it; of brackets and sums it may be their sign. */
  private sign(around: Frame, name: string, val: string): boolean {
    if (around.name === 'd') {
      if (name === 'begChr') around.begins = val;
      else if (name === 'endChr') around.ends = val;
      return true;
    }
    if (around.name !== 'nary' || name !== 'chr') return false;
    around.begins = val;
    return true;
  }

  /** What stands before the next part of the element that is open. */
  private between(name: string): string {
    const parent = this.frames.at(-1);
    if (parent === undefined || !(parent.name in BETWEEN) || name.endsWith('Pr')) return '';
    parent.parts += 1;
    return parent.parts === 1 ? parent.begins : (BETWEEN[parent.name]?.[parent.parts - 2] ?? ', ');
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
