import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extract } from '../../libs/extraction/src/extract';
import { Parser } from '../../libs/extraction/src/process/parser';
import { docxFile, xlsxFile } from '../fixtures/files/office';
import { pdfFile, pdfLines } from '../fixtures/files/pdf';
import { median } from './rate';

/**
 * Reading files in the parser process: the most memory that a 200-page PDF takes (target 512 MB), and what the process costs
 * beside the same reading here.
 */
const ROUNDS = 5;
const MEMORY_MB = 512;

const words =
  'Die Überprüfung der Anlage erfolgt jährlich durch eine befugte Person und wird im Prüfbuch vermerkt'.split(' ');
const line = (seed: number): string =>
  Array.from({ length: 13 }, (_, index) => words[(seed * 7 + index * 3) % words.length]).join(' ');
const page = (number: number) =>
  pdfLines([`Kapitel ${number}`, ...Array.from({ length: 50 }, (_, index) => line(number * 50 + index))]);

const FILES: readonly (readonly [string, Buffer])[] = [
  ['200 pages.pdf', pdfFile(Array.from({ length: 200 }, (_, index) => page(index)))],
  ['2,000 paragraphs.docx', docxFile(Array.from({ length: 2_000 }, (_, index) => ({ text: line(index) })))],
  ['2,000 rows.xlsx', xlsxFile({ S: Array.from({ length: 2_000 }, (_, index) => [line(index), index, index * 2]) })],
  ['a page.html', Buffer.from('<!doctype html><p>Text.')],
];

/** The most memory that processes of ours have taken, as the system saw it, MB. */
const watchMemory = () => {
  let most = 0;
  const timer = setInterval(() => {
    const parser = spawnedBy(process.pid);
    if (parser !== undefined) most = Math.max(most, peakOf(parser));
  }, 5);
  return () => (clearInterval(timer), most);
};

const spawnedBy = (pid: number): number | undefined => {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return child === undefined || child === '' ? undefined : Number(child);
};

const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // It has ended.
    return 0;
  }
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

const bareStart = (): Promise<unknown> =>
  new Promise((resolve) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('exit', resolve));

const main = async (): Promise<void> => {
  const parser = new Parser({ memoryMb: MEMORY_MB, seconds: 60, inflatedBytes: 1024 ** 3 });
  const { signal } = new AbortController();
  const starts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) starts.push(await timed(bareStart));
  console.log(`starting node alone: ${Math.round(median(starts))} ms`);
  for (const [name, body] of FILES) {
    const file = { name, mimeType: '', body };
    const apart: number[] = [];
    const here: number[] = [];
    const memory = watchMemory();
    for (let round = 0; round < ROUNDS; round += 1) {
      apart.push(await timed(() => parser.read(file, signal)));
      here.push(await timed(() => extract(file, 1024 ** 3)));
    }
    const most = Math.round(memory());
    console.log(
      `${name} (${Math.round(body.length / 1024)} kB): ${Math.round(median(apart))} ms apart, ${Math.round(median(here))} ms here; at most ${most} MB, ${(most / MEMORY_MB).toFixed(2)} of ${MEMORY_MB} (target 1.00)`,
    );
    if (most > MEMORY_MB) process.exitCode = 1;
  }
};

void main();
