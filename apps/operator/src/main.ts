import { EXIT } from './exit-codes';
import { operate } from './program';

// A reader such as `head` closes the pipe once it has seen enough. Nobody may take what was not read to its end for done, or for sound.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.failed);
});
// Notes and progress that nobody reads end no work.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void operate(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
