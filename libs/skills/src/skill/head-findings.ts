import { findingsWithin } from '@app/screening';
import type { TextFinding } from './skill.events';

/** What screening finds in a text that stands in no line: a description, a slug, or the path of a file. Each rule once, as line 0. */
export const headFindings = (text: string, find = findingsWithin()): readonly TextFinding[] =>
  [...new Set(find(text).map(({ rule }) => rule))].map((rule) => ({ rule, line: 0 }));
