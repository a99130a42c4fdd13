import { operate } from './program';

// A reader such as `head` closes the pipe once it has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void operate(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
