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

  it('says nothing of errors that nobody expects', () => expect(sentenceIn(new TypeError('x'))).toBeUndefined());
});
