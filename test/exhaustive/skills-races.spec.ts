/** Repeated often: see `repeated`. */
import '../e2e/skills-races.e2e-spec';
