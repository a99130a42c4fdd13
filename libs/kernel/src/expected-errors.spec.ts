import { sentenceIn, UnreadableEvent } from '.';

const event = { id: 'e1', type: 'UserCreated', stream: 'user-1', revision: 0, position: '1', data: '', metadata: '' };

describe('sentenceIn', () => {
  it('says where an event stands that stops a start, and what to do', () =>
    expect(sentenceIn(new UnreadableEvent('schema', event, 'its data are no object'))).toBe(
      'The log has an event that cannot be read, event e1 (UserCreated, user-1@0): its data are no object. Verify the log: if it is damaged there, restore a backup.',
    ));

  it.each(['newer_schema', 'unknown_type'] as const)(
    'says of an event of a later version which one to start: %s',
    (reason) =>
      expect(sentenceIn(new UnreadableEvent(reason, event, 'schema 4, known up to 3'))).toBe(
        'The log has an event of a later version of the platform, event e1 (UserCreated, user-1@0): schema 4, known up to 3. Start that version, or a later one.',
      ),
  );

  it.each([
    ['ENOSPC', 'The disk is full: make room, or name another place, and try again.'],
    ['EROFS', 'The disk is read-only: name another place, and try again.'],
  ])('says what to do where a disk takes nothing, behind other errors too: %s', (code, advice) => {
    const cause = Object.assign(new Error(`${code}: write`), { code, syscall: 'write' });
    expect(sentenceIn(cause)).toBe(`${code}: write. ${advice}`);
    const named = Object.assign(new Error('x cannot be written', { cause }), { name: 'BackupError' });
    expect(sentenceIn(named)).toBe(`x cannot be written. ${advice}`);
    expect(sentenceIn(new Error('a fault', { cause }))).toBeUndefined();
  });

  it('says nothing of errors that nobody expects', () => expect(sentenceIn(new TypeError('x'))).toBeUndefined());
});
