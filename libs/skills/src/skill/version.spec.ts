import { ERASED } from '@app/kernel';
import type { StoredFile } from './skill.events';
import { bodiesOf, changedContent, emptyContent } from './version';

it('a version has the bodies of all its files, also once their paths are erased', () => {
  const file = (body: string): StoredFile => ({
    path: ERASED,
    mediaType: 'text/markdown',
    sizeBytes: 1,
    sha256: ERASED,
    file: body,
    findings: [],
  });
  const version = changedContent(emptyContent, { files: [file('b1'), file('b2')] });
  expect([...bodiesOf([version])].toSorted()).toEqual(['b1', 'b2']);
});
