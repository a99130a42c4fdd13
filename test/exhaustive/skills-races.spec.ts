/** Repeated often: see `repeated`. */
import '../e2e/skills-races.long-spec';
