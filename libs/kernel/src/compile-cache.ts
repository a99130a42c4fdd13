import nodeModule from 'node:module';

// Imported first: by `@app/process` in a process, and in each thread, because Node does not pass the cache on to
// threads. Modules that load after it are compiled once and kept for the next start. The types of the oldest Node that
// can install the product do not know the function yet; the Node that runs it has it.
(nodeModule as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
