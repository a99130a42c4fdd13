import { operate } from './program';

void operate(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
