import { sentenceIn, UnreadableEvent } from '.';

const event = { id: 'e1', type: 'UserCreated', stream: 'user-1', revision: 0, position: '1', data: '', metadata: '' };

describe('sentenceIn', () => {
  it('says where an event stands that stops a start, and what to do', () =>
    expect(sentenceIn(new UnreadableEvent('schema', event, 'its data are no object'))).toBe(
      'The log has an event that cannot be read, event e1 (UserCreated, user-1@0): its data are no object. Verify the log: if it is damaged there, restore a backup; if a later version wrote it, start that one.',
    ));

  it('says nothing of errors that nobody expects', () => expect(sentenceIn(new TypeError('x'))).toBeUndefined());
});
