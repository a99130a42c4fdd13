import pino, { type DestinationStream } from 'pino';
import pretty from 'pino-pretty';

/** Standard output, as far as it matters whether people look at it. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; hasColors?(): boolean };

/** Where the log goes: on a terminal lines for people, everywhere else JSON lines. */
export const logDestination = (output: Output): DestinationStream =>
  output.isTTY === true
    ? pretty({
        destination: output,
        // `hasColors` knows what NO_COLOR and the terminal say.
        colorize: output.hasColors?.() === true,
        translateTime: 'SYS:HH:MM:ss.l',
        singleLine: true,
        // What the message says already.
        ignore: 'pid,method,route,status,milliseconds',
        messageFormat: (line, messageKey) => messageOf(line, String(line[messageKey])),
      })
    : pino.destination({ dest: 1, sync: false });

const messageOf = (
  { method, route, status, milliseconds }: Readonly<Record<string, unknown>>,
  message: string,
): string => {
  if (message === 'request')
    return `${String(method)} ${String(route)} ${String(status)} in ${String(milliseconds)} ms`;
  return route === undefined ? message : `${message.replace(/\.$/, '')} (${String(route)})`;
};
