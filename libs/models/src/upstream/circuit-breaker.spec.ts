import { CircuitBreaker } from './circuit-breaker';

const broken = () => {
  let now = 0;
  const breaker = new CircuitBreaker(() => now);
  for (let call = 0; call < 10; call += 1) {
    expect(breaker.admit()).toBe(true);
    breaker.failed();
  }
  return { breaker, wait: (ms: number) => (now += ms) };
};

describe('the circuit of a provider', () => {
  it('opens after ten failures in a row, and lets one call try after five seconds', () => {
    const { breaker, wait } = broken();
    expect([breaker.state, breaker.admit(), breaker.waitMs]).toEqual(['open', false, 5_000]);
    wait(5_000);
    expect([breaker.state, breaker.admit(), breaker.admit()]).toEqual(['half-open', true, false]);
    breaker.succeeded();
    expect([breaker.state, breaker.admit()]).toEqual(['closed', true]);
  });

  it('opens again when the try fails, and tries again when the trying caller left', () => {
    const { breaker, wait } = broken();
    wait(5_000);
    expect(breaker.admit()).toBe(true);
    breaker.failed();
    expect(breaker.state).toBe('open');
    wait(5_000);
    expect(breaker.admit()).toBe(true);
    breaker.undecided();
    expect(breaker.admit()).toBe(true);
  });

  it('waits five seconds for a try that hangs, and then lets the next one try', () => {
    const { breaker, wait } = broken();
    wait(5_000);
    expect(breaker.admit()).toBe(true);
    wait(4_999);
    expect(breaker.admit()).toBe(false);
    wait(1);
    expect([breaker.admit(), breaker.admit()]).toEqual([true, false]);
    breaker.succeeded();
    expect([breaker.state, breaker.admit(), breaker.admit()]).toEqual(['closed', true, true]);
  });

  it('stays closed while successes come between failures', () => {
    const breaker = new CircuitBreaker(() => 0);
    for (let call = 0; call < 100; call += 1) {
      breaker.failed();
      if (call % 9 === 8) breaker.succeeded();
    }
    expect(breaker.state).toBe('closed');
  });
});
