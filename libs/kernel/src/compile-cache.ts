import nodeModule from 'node:module';

// Imported before anything else, as `@app/process` is by what starts a process, and in each thread, which Node does not give it from the process: what is loaded from
// here on is compiled once and kept for the next start. The types of the oldest Node that installs do not know the function yet; the Node that runs has it.
(nodeModule as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
