import { expectRefused, withHostileSkills } from '../e2e/hostile-skills-world';
import { hostileSkills } from '../fixtures/files/hostile-skills';

/** Every archive that is made against the readers of Skills, by both ways in. */

withHostileSkills();

describe('an archive of a Skill', () => {
  it.each(hostileSkills)('is refused with %s, and leaves nothing', (...archive) => expectRefused(archive));
});
