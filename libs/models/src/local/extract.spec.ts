import type { ChatSource } from '../provider';
import { extractsFor } from './extract';

const source = (number: number, text: string, headings: string[] = []): ChatSource => ({
  number,
  title: `file ${number}`,
  headings,
  text,
});
const texts = (question: string, ...sources: ChatSource[]): readonly string[] =>
  extractsFor(question, sources).map(({ text, source: number }) => `${text} [${number}]`);

describe('the sentences that answer a question', () => {
  it('are whole, on one line, and never headings, stubs, questions, code or drawings', () => {
    const text =
      '# Backups\n\nBackups\n\nBackups at night\n\nWhen are backups taken?\n\n```sh\nbackup every night.\n```\n\nbackups │ every ► night.\n\nBackups are taken\nevery night at two.';
    expect(texts('When are backups taken at night?', source(1, text))).toEqual([
      'Backups are taken every night at two. [1]',
    ]);
  });

  it('are none where nothing covers enough of the question', () => {
    expect(
      texts(
        'Who won the football match?',
        source(1, 'The match of two keys is rejected. Nobody sleeps here at night.'),
      ),
    ).toEqual([]);
  });

  it('say nothing twice', () => {
    const [one, two] = [
      'Every backup is encrypted before it is stored.',
      'Every backup is encrypted before it is stored, too.',
    ];
    expect(texts('Is every backup encrypted?', source(1, one), source(2, two), source(3, one))).toEqual([`${one} [1]`]);
  });

  it('are few, and stand in the order of the text, that of the best source first', () => {
    const [first, second] = [
      source(1, 'Nobody is here. Backups stand in another building.'),
      source(2, 'Zebras sleep. A deletion leaves a receipt in the log.'),
    ];
    expect(texts('Where do backups stand, and what receipt does a deletion leave in the log?', first, second)).toEqual([
      'A deletion leaves a receipt in the log. [2]',
      'Backups stand in another building. [1]',
    ]);
    const many = source(
      1,
      Array.from(
        { length: 9 },
        (_, index) => `The vault destroys keys of kind ${index} number${index} name${index} word${index}.`,
      ).join(' '),
    );
    const found = texts('Which keys does the vault destroy?', many);
    expect([found.length, found]).toEqual([4, found.toSorted()]);
  });

  it('are rather about the thing asked for than mention it, and rather stand alone than lean on another', () => {
    expect(
      texts('What is a seal?', source(1, 'The auditor looks at every signed seal. A seal signs a range of events.'))[0],
    ).toBe('A seal signs a range of events. [1]');
    expect(
      texts(
        'Who signs events?',
        source(1, 'It signs events of all kinds daily. Sealers sign events of all kinds daily.'),
      )[0],
    ).toBe('Sealers sign events of all kinds daily. [1]');
  });

  it('may be rows of a table, told as what they are about and what is said of it', () => {
    const table =
      '| variable | default | meaning |\n|---|---|---|\n| `PORT` | `3000` | Port to listen on. |\n| `HOST` |  | Address. |';
    expect(texts('Which port does it listen on?', source(1, table))).toEqual([
      '`PORT`: `3000`, Port to listen on. [1]',
    ]);
  });

  it.each([
    ['备份在什么时候进行？', '备份每天凌晨两点进行。', '密钥每九十天轮换一次。', '办公室在三楼。'],
    ['密钥多久轮换一次？', '密钥每九十天轮换一次。', '备份每天凌晨两点进行。', '办公室在三楼。'],
    ['请告诉我密钥轮换是怎么工作的', '密钥轮换由保险库自动完成。', '我们的食堂中午十二点开门。', '办公室在三楼。'],
    [
      'バックアップはいつ作成されますか？',
      'バックアップは毎晩二時に作成されます。',
      '鍵は九十日ごとに交換されます。',
      '事務所は三階にあります。',
    ],
    [
      '鍵は何日ごとに交換されますか',
      '「鍵は九十日ごとに交換されます。」',
      'バックアップは毎晩二時に作成されます。',
      '事務所は三階にあります。',
    ],
    [
      '백업은 언제 생성됩니까?',
      '백업은 매일 새벽 두 시에 생성됩니다.',
      '사무실은 삼층에 있습니다.',
      '키는 구십 일마다 교체됩니다.',
    ],
    [
      '키는 얼마나 자주 교체되나요?',
      '키는 구십 일마다 교체됩니다.',
      '백업은 매일 생성됩니다.',
      '사무실은 삼층에 있습니다.',
    ],
    ['สำรองข้อมูลเมื่อไหร่', 'ระบบสำรองข้อมูลทุกคืนเวลาตีสอง', 'สำนักงานอยู่ชั้นสาม', 'โรงอาหารเปิดตอนเที่ยง'],
    [
      'متى يتم النسخ الاحتياطي؟',
      'يتم النسخ الاحتياطي كل ليلة عند الثانية.',
      'يقع المكتب في الطابق الثالث.',
      'يفتح المطعم ظهرا كل يوم.',
    ],
  ])('are found in scripts without capitals, with or without spaces: %s', (question, answer, ...others) => {
    const found = texts(question, source(1, `${others[0]}\n\n${answer}`), source(2, others[1] ?? ''));
    expect(found[0]).toBe(`${answer} [1]`);
    expect(found.join()).not.toContain(others[1]);
  });

  it.each([
    ['谁赢得了足球比赛？', '备份每天凌晨两点进行。密钥每九十天轮换一次。'],
    ['什么是量子力学？', '密钥每九十天轮换一次，由保险库自动完成。为什么是九十天？'],
    ['サッカーの試合に勝ったのは誰ですか？', 'バックアップは毎晩二時に作成されます。鍵は九十日ごとに交換されます。'],
    ['축구 경기에서 누가 이겼습니까?', '백업은 매일 새벽 두 시에 생성됩니다. 키는 구십 일마다 교체됩니다.'],
  ])('are none there either where nothing covers enough of the question: %s', (question, text) =>
    expect(texts(question, source(1, text))).toEqual([]),
  );

  it('are the same every time, whatever the question holds', () => {
    const sources = [
      source(1, 'Backups are taken every night. They never contain the keys.'),
      source(2, 'Backups are taken every day by hand.'),
    ];
    for (const question of ['', '   ', '???', 'Backups', 'x'.repeat(10_000)])
      expect(extractsFor(question, sources)).toEqual(extractsFor(question, sources));
    expect(extractsFor('', sources)).toEqual([]);
  });
});
