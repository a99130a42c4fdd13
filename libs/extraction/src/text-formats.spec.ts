import { shown } from '../../../test/fixtures/files/extracted';
import { zipFile } from '../../../test/fixtures/files/office';

it('what a Markdown file says of itself is no heading', async () => {
  expect(await shown('---\ntitle: Handbuch\nauthor: Max\n---\n\n# Titel\n\nText.\n', 'a.md')).toEqual([
    '---\ntitle: Handbuch\nauthor: Max\n---',
    '# # Titel',
    'Text.',
  ]);
  expect(await shown('---\n\nTitel\n---\nText: ja\n', 'a.md')).toEqual(['---', '## Titel\n---', 'Text: ja']);
  expect(await shown('---\nkein: Ende\n', 'a.md')).toEqual(['---\nkein: Ende']);
});

describe('RTF', () => {
  const rtf = (inner: string): Promise<readonly string[]> => shown(`{\\rtf1\\ansi ${inner}}`);

  it('does not show what is hidden or was deleted', async () =>
    expect(await rtf('Sichtbar {\\v geheim \\u8364?}bleibt \\v weg\\v0 da {\\deleted alt}\\plain neu\\par')).toEqual([
      'Sichtbar bleibt da neu',
    ]));

  it('keeps raised digits apart, shows text boxes once, and knows headings by their styles', async () =>
    expect(
      await rtf(
        '{\\stylesheet{\\s0 Standard;}{\\s2\\outlinelevel1 Kapitel;}}\\pard\\s2 Fl\\u228?che\\par\\pard\\s0 10{\\super 6} m\\super 2\\nosupersub  gro\\u223?\\par{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv b}}{\\shptxt\\pard Kasten\\par}}{\\shprslt{\\*\\do Kasten}}}',
      ),
    ).toEqual(['## Fläche', '10⁶ m² groß', 'Kasten']));

  it('says in each row what a cell over several rows says', async () =>
    expect(
      await rtf(
        '\\trowd\\clvmgf\\cellx1\\cellx2 Werkzeug\\cell Zange\\cell\\row\\trowd\\clvmrg\\cellx1\\cellx2 \\cell S\\u228?ge\\cell\\row',
      ),
    ).toEqual(['Werkzeug; Zange.', 'Werkzeug; Säge.']));
});

describe('a mail', () => {
  const mail = (...parts: readonly (readonly [type: string, body: string])[]): Promise<readonly string[]> =>
    shown(
      [
        'From: a@x.example',
        'Subject: Einladung',
        'MIME-Version: 1.0',
        'Content-Type: multipart/alternative; boundary="b"',
        '',
        ...parts.flatMap(([type, body]) => ['--b', `Content-Type: ${type}; charset=utf-8`, '', body]),
        '--b--',
      ].join('\r\n'),
      'a.eml',
    ).then((found) => found.slice(2));

  it('is read as its page where its text says only to look there', async () => {
    const long = 'Der Inhalt steht nur hier. '.repeat(20).trim();
    expect(await mail(['text/plain', 'Bitte als HTML ansehen.'], ['text/html', `<p>${long}</p>`])).toEqual([long]);
    expect(await mail(['text/plain', long], ['text/html', `<p>${long}</p>`])).toEqual([long]);
  });

  it('says what it invites to', async () =>
    expect(
      await mail(
        ['text/plain', 'Bis bald.'],
        [
          'text/calendar; method=REQUEST',
          [
            'BEGIN:VCALENDAR',
            'DESCRIPTION:nicht vom Termin',
            'BEGIN:VEVENT',
            'SUMMARY:Jahresgespräch\\, Teil 1',
            'DTSTART;TZID=Europe/Berlin:20260301T100000',
            'DTEND:20260301T110000Z',
            'LOCATION:Raum',
            '  5',
            'ORGANIZER;CN=Max:mailto:max@x.example',
            'END:VEVENT',
            'END:VCALENDAR',
          ].join('\r\n'),
        ],
      ),
    ).toEqual([
      'Bis bald.',
      'Event: Jahresgespräch, Teil 1\nBegins: 2026-03-01 10:00\nEnds: 2026-03-01 11:00 UTC\nLocation: Raum 5\nOrganizer: max@x.example',
    ]));
});

it('a book says its title and its authors, and shows its chapters without their navigation', async () =>
  expect(
    await shown(
      zipFile({
        'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
        'book.opf':
          '<package xmlns:dc="d"><metadata><dc:title>Der Steuermann</dc:title><dc:creator>Ada Müller</dc:creator></metadata><manifest><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        'a.xhtml': '<html><body><nav><a>Inhalt</a></nav><h1>Eins</h1><p>Los.</p></body></html>',
        'b.xhtml': '<html><body><p>Zwei.</p></body></html>',
      }),
    ),
  ).toEqual(['Der Steuermann', 'Ada Müller', '# ', '# Eins', 'Los.', '# ', 'Zwei.']));
