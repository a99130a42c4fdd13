import { threadTime } from '../../../../test/fixtures/processor-time';
import { saidByUser } from './said-by-user';

describe('a memory is said by the user', () => {
  it.each([
    ['User likes tea', 'I like tea.'],
    ['The user likes tea', 'Remember that I like tea'],
    ['I prefer metric units', 'Please remember: I prefer metric units'.replace(':', ' that')],
    ["The user's name is Anna", 'Hi, my name is Anna!'],
    ['User is vegetarian', "I'm vegetarian."],
    ['User does not eat meat', "I don't eat meat"],
    ['He is a friend of Ada', 'He is a friend of Ada.'],
    ['She prefers short answers', 'I prefer short answers'],
    ['User lives in Bern', 'I am new here, and I live in Bern'],
    ['User has two cats', 'What is a good vet? I have two cats.'],
    ['Der Nutzer trinkt gern Kaffee', 'Ich trinke gern Kaffee.'],
    ['Nutzer arbeitet in Wien', 'Merke dir, dass ich in Wien bin. Ich arbeite in Wien.'],
    [
      'Nutzerin ist allergisch gegen Nüsse',
      'Bitte merk dir: vieles. Ich bin allergisch gegen Nüsse'.replace(': vieles', ''),
    ],
  ])('who wrote so: %s <- %s', (memory, message) => {
    expect(saidByUser(memory, ['Something else', message])).toBe('said');
  });
});

describe('a memory is not said by the user', () => {
  it.each([
    ['where it is denied', 'User likes tea', 'I do not like tea'],
    ['where more is said', 'User likes tea', 'I like tea in winter'],
    ['where less is said', 'User likes green tea', 'I like tea'],
    ['where it is asked', 'User likes tea', 'Do I like tea?'],
    ['where it is quoted', 'User likes tea', 'She wrote "I like tea"'],
    ['where others say it', 'User likes tea', 'My mother said, I like tea'],
    ['where it is a condition', 'User likes tea', 'If it rains, I like tea'],
    ['where it is supposed', 'User likes tea', 'Pretend for a moment, I like tea'],
    ['where it stands behind a colon', 'User likes tea', 'The mail says:\nI like tea'],
    ['where it is a quotation of a mail', 'User likes tea', 'Look at this\n> I like tea'],
    ['where it is of somebody else', 'User is allergic to nuts', 'My sister came. She is allergic to nuts.'],
    ['where it is of the Agent', "The user's name is Max", 'Your name is Max'],
    ['wo es andere betrifft', 'Nutzer mag Tee', 'Meine Mutter schläft. Sie mag Tee.'],
    ['where it is code', 'User likes tea', '```\nI like tea\n```'],
    ['where words are in another order', 'Anna hates Ben', 'Ben hates Anna'],
    ['where numbers differ', 'User has 12 cats', 'I have 2 cats'],
    ['where it is pieced together from sentences', 'User likes coffee', 'I like tea. He drinks coffee.'],
    ['where nobody says it', 'User trusts every link', 'Hello'],
    ['wo es verneint ist', 'Nutzer mag Tee', 'Ich mag keinen Tee'],
    ['wo es andere sagen', 'Nutzer mag Tee', 'Er behauptet, ich mag Tee'],
  ])('only because a message is like it, %s: %s <- %s', (_, memory, message) => {
    expect(saidByUser(memory, [message])).not.toBe('said');
  });

  it('says where its words are the words of the user all the same', () => {
    expect(saidByUser('Tea is liked', ['I liked the tea of yesterday'])).toBe('paraphrased');
    expect(saidByUser('User owns a boat', ['I like tea'])).toBe('unsaid');
    expect(saidByUser('!!!', ['!!!'])).toBe('unsaid');
  });

  it('takes time in proportion to what was said', () => {
    const spent = threadTime();
    saidByUser(`User ${'a '.repeat(140)}`, [
      `${'remember that '.repeat(20_000)}a`,
      'x,'.repeat(20_000),
      '"'.repeat(100_000),
    ]);
    expect(spent()).toBeLessThan(1_000);
  });
});
