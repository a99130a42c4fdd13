import { readFile } from 'node:fs/promises';
import { text as all } from 'node:stream/consumers';
import { screen, type ScreeningPurpose } from '@app/screening';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { EXIT, Failure } from '../exit-codes';
import { counted } from '../output';
import type { Run, Verb } from '../session';

const lineSchema = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  text: z.string(),
  label: z.enum(['unsafe', 'safe']).optional(),
});

type Line = z.infer<typeof lineSchema>;

const parsed = (text: string, file: string, line: number): Line => {
  const wrong = (what: string): Failure => new Failure(`${file}, line ${line}: ${what}.`, EXIT.wrongUsage);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong('this is no JSON');
  }
  const read = lineSchema.safeParse(value);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw wrong(`${issue?.path.join('.') || 'the line'}: ${issue?.message ?? 'this is no object with a text'}`);
};

/** Of the lines that have a label; null where there are none to divide by. */
export interface Measures {
  readonly lines: number;
  readonly labelled: number;
  readonly precision: number | null;
  readonly recall: number | null;
  readonly falseAlarms: number | null;
}

/** Measures of labelled verdicts: flagged is what should be unsafe. */
export const measuresOf = (
  judged: readonly { readonly label?: Line['label']; readonly isFlagged: boolean }[],
): Measures => {
  const count = (label: Line['label'], isFlagged?: boolean): number =>
    judged.filter((each) => each.label === label && (isFlagged === undefined || each.isFlagged === isFlagged)).length;
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  const [found, alarms, unsafe, safe] = [count('unsafe', true), count('safe', true), count('unsafe'), count('safe')];
  return {
    lines: judged.length,
    labelled: unsafe + safe,
    precision: share(found, found + alarms),
    recall: share(found, unsafe),
    falseAlarms: share(alarms, safe),
  };
};

const shown = (value: number | null): string => (value === null ? '-' : value.toFixed(3));

const screenFile: Verb<[file: string, { readonly purpose: ScreeningPurpose }]> = async (
  { output },
  file,
  { purpose },
) => {
  const given = file === '-' ? await all(process.stdin) : await contentOf(file);
  const lines = given
    .split('\n')
    .flatMap((text, index) => (text.trim() === '' ? [] : [{ line: index + 1, ...parsed(text, file, index + 1) }]));
  const judged: { label?: Line['label']; isFlagged: boolean }[] = [];
  for (const { id, line, text, label } of lines) {
    const { verdict, score, rules, version } = screen(text, purpose);
    judged.push({ ...(label === undefined ? {} : { label }), isFlagged: verdict === 'flagged' });
    output.result({ id: id ?? line, verdict, score, rules, version }, (each) => [
      [each.id, each.verdict, each.score.toFixed(3), each.rules.join(' ')].join('  ').trimEnd(),
    ]);
  }
  output.result(measuresOf(judged), (of) => [
    `${counted(of.lines, 'line')}, ${of.labelled} labelled: precision ${shown(of.precision)}, recall ${shown(of.recall)}, false alarms ${shown(of.falseAlarms)}`,
  ]);
};

const contentOf = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Failure(
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`,
      EXIT.wrongUsage,
    );
  }
};

export const addScreenVerb = (program: Command, run: Run): void => {
  program
    .command('screen <file>')
    .description('screen texts, one JSON line each, and measure the verdicts where lines have labels; needs no server')
    .addOption(
      new Option('--purpose <purpose>', 'what the texts are for')
        .choices(['memory', 'text', 'skill'])
        .default('memory'),
    )
    .addHelpText('after', '\nLines are { "id"?, "text", "label"?: "unsafe"|"safe" }; - reads standard input.')
    .action(run(screenFile));
};
