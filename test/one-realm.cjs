// Jest runs tests in a realm of their own, in which errors of Node's core, such as those of sockets, are no instances of `Error`.
// In the product there is one realm, so code under test may tell errors by `instanceof`.
const { types } = require('node:util');

const ordinary = Function.prototype[Symbol.hasInstance];
Object.defineProperty(Error, Symbol.hasInstance, {
  value(value) {
    return this === Error ? types.isNativeError(value) || ordinary.call(this, value) : ordinary.call(this, value);
  },
});
