// Moves the clock of the process that loads it by the milliseconds in the file CLOCK_SHIFT, which is taken away, and read again at SIGUSR2.
const { existsSync, readFileSync, rmSync } = require('node:fs');

const RealDate = Date;
let shift = 0;
const read = () => {
  // Threads of the process store what they are given, and read no clock.
  if (!existsSync(process.env.CLOCK_SHIFT)) return;
  shift = Number(readFileSync(process.env.CLOCK_SHIFT, 'utf8'));
  rmSync(process.env.CLOCK_SHIFT);
};
read();
process.on('SIGUSR2', read);

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
