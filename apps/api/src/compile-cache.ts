import { enableCompileCache } from 'node:module';

// Imported before anything else: what is loaded from here on is compiled once and kept for the next start.
enableCompileCache();
