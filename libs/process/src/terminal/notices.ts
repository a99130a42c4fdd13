/** What a process that has started tells whoever started it. */
export interface Started {
  readonly version: string;
  /** Where it is reached: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Its roles, with "and" between them; undefined where the API is among them. */
  readonly runs: string | undefined;
  readonly dataDir: string;
}

/** The first key, which is shown this once: on a terminal in a box of its own, else on a line. */
export const keyNotice = (secret: string, isTerminal: boolean): string => {
  if (!isTerminal) return `API key of the first admin, shown only once: ${secret}\n`;
  return boxed(['API key of the first admin. It is shown only once: keep it.', '', secret, '', `export KEY=${secret}`]);
};

/** That it runs, and where. Addresses are whole: terminals make links of them. */
export const startNotice = ({ version, url, runs, dataDir }: Started, isTerminal: boolean): string => {
  const address = url.replace(/\/$/, '');
  if (!isTerminal)
    return `Agent Platform ${version} at ${address} (${runs === undefined ? `documentation: ${address}/docs` : `runs ${runs}`}, data: ${dataDir})\n`;
  const places =
    runs === undefined
      ? [
          `  API            ${address}/api/v1`,
          `  Gateway        ${address}/api/compat/v1`,
          `  Documentation  ${address}/docs`,
        ]
      : [`  Address        ${address}`, `  Roles          ${runs}`];
  return `${[`Agent Platform ${version} has started. Ctrl-C stops it.`, '', ...places, `  Data           ${dataDir}`].join('\n')}\n\n`;
};

const boxed = (lines: readonly string[]): string => {
  const width = Math.max(...lines.map(({ length }) => length));
  const edge = '─'.repeat(width + 4);
  return `\n${[`┌${edge}┐`, ...lines.map((line) => `│  ${line.padEnd(width)}  │`), `└${edge}┘`].join('\n')}\n\n`;
};
