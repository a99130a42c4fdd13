import { assertRuntime } from '.';

describe('the runtime', () => {
  it('is the one that the tests run on, or a newer one', () => {
    expect(() => assertRuntime()).not.toThrow();
    expect(() => assertRuntime({ node: '30.0.0', napi: '12' })).not.toThrow();
  });

  it.each([{ node: '20.19.0', napi: '9' }, { node: '12.0.0' }])(
    'is rejected with a sentence where it is too old: %j',
    (versions) => expect(() => assertRuntime(versions)).toThrow(`Node ${versions.node} is too old`),
  );
});
