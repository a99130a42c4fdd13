import type { BackupCheck } from '@app/backup';
import { count, counted } from './output';

/** Most findings that are shown to people. */
const MOST_SHOWN = 20;

/** What a check of a backup found, for people. */
export const backupLines = (check: BackupCheck): readonly string[] => {
  const { findings, findingsInAll, keys } = check;
  return [
    filesLine(check),
    ...findings.slice(0, MOST_SHOWN).map(({ kind, path, detail }) => `  ${kind}  ${path}: ${detail}`),
    ...(findingsInAll > MOST_SHOWN ? [`  and ${count(findingsInAll - MOST_SHOWN)} more`] : []),
    ...(keys?.hasDigest === false
      ? ['The file of keys was made by an earlier version: it cannot be checked whether it was changed.']
      : []),
    ...(keys !== undefined && keys.damaged > 0
      ? [
          `${counted(keys.damaged, 'key')} cannot be opened: what ${keys.damaged === 1 ? 'it' : 'they'} encrypted cannot be read.`,
        ]
      : []),
  ];
};

const filesLine = ({ manifest, findingsInAll }: BackupCheck): string => {
  if (findingsInAll > 0) return `The backup is NOT as it was made: ${counted(findingsInAll, 'finding')}.`;
  if (manifest.version === 1)
    return 'The backup was made by an earlier version, without hashes: it cannot be checked whether its files were changed.';
  return `Every file is as it was backed up: ${count(manifest.listing.files)}.`;
};
