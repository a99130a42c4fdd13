const { configureGlobal } = require('fast-check');

configureGlobal({ seed: Number(process.env.SEED) });
