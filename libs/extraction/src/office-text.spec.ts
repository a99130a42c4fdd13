import { docxFile, relations, zipFile } from '../../../test/fixtures/files/office';
import { shown } from '../../../test/fixtures/files/extracted';

const run = (text: string, properties = ''): string => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const paragraph = (inner: string, properties = ''): string => `<w:p><w:pPr>${properties}</w:pPr>${inner}</w:p>`;
const numbered = (text: string, level: number, list = 1): string =>
  paragraph(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
const word = (inner: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> =>
  shown(
    docxFile([], {
      'word/document.xml': `<w:document xmlns:w="w" xmlns:m="m" xmlns:c="c" xmlns:dgm="d" xmlns:r="r"><w:body>${inner}</w:body></w:document>`,
      ...more,
    }),
  );

const level = (at: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
const NUMBERING = {
  'word/numbering.xml': `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '§ %1')}${level(1, 'lowerLetter', '%2)')}${level(2, 'upperRoman', '%1.%3')}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '&#xF0B7;')}</w:abstractNum><w:abstractNum w:abstractNumId="2">${level(0, 'decimal', '%1', '<w:pStyle w:val="Kapitel"/>')}${level(1, 'decimal', '%1.%2', '<w:pStyle w:val="Abschnitt"/>')}</w:abstractNum><w:abstractNum w:abstractNumId="3">${level(0, 'lowerRoman', '(%1)', '<w:start w:val="4"/>')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num><w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num></w:numbering>`,
  'word/styles.xml':
    '<w:styles xmlns:w="w"><w:style w:styleId="Kapitel"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style><w:style w:styleId="Abschnitt"><w:name w:val="heading 2"/><w:basedOn w:val="Kapitel"/></w:style><w:style w:styleId="Geheim"><w:name w:val="Geheim"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>',
};

describe('a Word document', () => {
  it('has the numbers of its lists, which none of its paragraphs holds', async () =>
    expect(
      await word(
        numbered('Eins', 0) +
          numbered('Eins a', 1) +
          numbered('Eins b', 1) +
          numbered('Zwei', 0) +
          numbered('Zwei a', 1) +
          numbered('Tief', 2) +
          numbered('Punkt', 0, 2) +
          numbered('Sieben', 0, 4) +
          numbered('Drei', 0) +
          numbered('Vier', 0, 5) +
          numbered('Ohne Liste', 0, 99),
        NUMBERING,
      ),
    ).toEqual([
      '§ 1 Eins',
      'a) Eins a',
      'b) Eins b',
      '§ 2 Zwei',
      'a) Zwei a',
      '2.I Tief',
      '- Punkt',
      '§ 7 Sieben',
      '§ 3 Drei',
      '(iv) Vier',
      '- Ohne Liste',
    ]));

  it('has the numbers of its headings, and counts no paragraph that was deleted', async () => {
    const heading = (inner: string, style: string) => paragraph(inner, `<w:pStyle w:val="${style}"/>`);
    expect(
      await word(
        heading(run('Umfang'), 'Kapitel') +
          heading(`<w:del><w:r><w:delText>Weg</w:delText></w:r></w:del>`, 'Abschnitt') +
          heading(run('Lieferung'), 'Abschnitt') +
          heading(run('Frist'), 'Abschnitt') +
          heading(run('Kündigung'), 'Kapitel') +
          paragraph(run('Text')),
        NUMBERING,
      ),
    ).toEqual(['# 1 Umfang', '## 1.1 Lieferung', '## 1.2 Frist', '# 2 Kündigung', 'Text']);
  });

  it('does not show hidden text, nor what a control asks for', async () =>
    expect(
      await word(
        paragraph(run('Sichtbar ') + run('geheim', '<w:vanish/>') + run('bleibt', '<w:vanish w:val="0"/>')) +
          paragraph(run('Auch geheim', '<w:rStyle w:val="Geheim"/>')) +
          paragraph(run('Und dies'), '<w:pStyle w:val="Geheim"/>') +
          paragraph(run('Nur die Marke ist es'), '<w:rPr><w:vanish/></w:rPr>') +
          `<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>${paragraph(run('Klicken Sie hier.'))}</w:sdtContent></w:sdt>` +
          `<w:sdt><w:sdtPr/><w:sdtContent>${paragraph(run('Ausgefüllt.'))}</w:sdtContent></w:sdt>`,
        NUMBERING,
      ),
    ).toEqual(['Sichtbar bleibt', 'Nur die Marke ist es', 'Ausgefüllt.']));

  it('keeps what is raised and lowered apart from the digits beside it', async () =>
    expect(
      await word(
        paragraph(
          run('10') +
            run('6', '<w:vertAlign w:val="superscript"/>') +
            run(' m') +
            run('2', '<w:vertAlign w:val="superscript"/>') +
            run(' H') +
            run('2', '<w:vertAlign w:val="subscript"/>') +
            run('O 1') +
            run('st', '<w:vertAlign w:val="superscript"/>') +
            '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>',
        ),
      ),
    ).toEqual(['10⁶ m² H₂O 1st✓']));

  it('writes formulas on a line', async () => {
    const r = (text: string): string => `<m:r><w:rPr/><m:t>${text}</m:t></m:r>`;
    expect(
      await word(
        paragraph(
          `${run('Es gilt ')}<m:oMath><m:f><m:fPr/><m:num>${r('a+b')}</m:num><m:den>${r('2')}</m:den></m:f>${r('=')}<m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup>${r('·')}<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>${r('c')}</m:e></m:d><m:rad><m:deg/><m:e>${r('d-1')}</m:e></m:rad></m:oMath>${run(' immer.')}`,
        ),
      ),
    ).toEqual(['Es gilt (a+b)/2=x^2·[c]√(d-1) immer.']);
  });

  it('has what its diagrams and charts say, where they stand', async () => {
    const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:title><a:p><a:r><a:t>Umsatz</a:t></a:r></a:p></c:title>${[
      'A',
      'B',
    ]
      .map(
        (name, index) =>
          `<c:ser><c:tx><c:pt idx="0"><c:v>${name}</c:v></c:pt></c:tx><c:cat><c:pt idx="0"><c:v>Nord</c:v></c:pt><c:pt idx="1"><c:v>Süd</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>${index}</c:v></c:pt><c:pt idx="1"><c:v>${index + 5}</c:v></c:pt></c:val></c:ser>`,
      )
      .join('')}</c:chartSpace>`;
    expect(
      await word(
        paragraph('<w:r><w:drawing><dgm:relIds r:dm="rId1"/></w:drawing></w:r>') +
          paragraph('<w:r><w:drawing><c:chart r:id="rId2"/></w:drawing></w:r>') +
          paragraph(run('Danach.')),
        {
          'word/_rels/document.xml.rels': relations({
            rId1: ['diagramData', 'diagrams/data1.xml'],
            rId2: ['chart', 'charts/chart1.xml'],
          }),
          'word/diagrams/data1.xml':
            '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:pt><dgm:t><a:p><a:r><a:t>Planen</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
          'word/charts/chart1.xml': chart,
        },
      ),
    ).toEqual(['Planen', 'Umsatz', 'Nord; A: 0; B: 1.', 'Süd; A: 5; B: 6.', 'Danach.']);
  });
});

it('a slide shows what old programs are shown once, raised digits, and its diagrams', async () => {
  const a = (inner: string): string => `<p:sp><p:txBody><a:p>${inner}</a:p></p:txBody></p:sp>`;
  const r = (text: string, properties = ''): string => `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`;
  expect(
    await shown(
      zipFile({
        'ppt/presentation.xml': '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldId r:id="rId1"/></p:presentation>',
        'ppt/_rels/presentation.xml.rels': relations({ rId1: ['slide', 'slides/slide1.xml'] }),
        'ppt/slides/slide1.xml': `<p:sld xmlns:a="a" xmlns:p="p" xmlns:mc="mc" xmlns:dgm="d" xmlns:r="r">${a(`${r('20 m')}${r('2', 'baseline="30000"')}`)}<mc:AlternateContent><mc:Choice>${a(r('Neu'))}</mc:Choice><mc:Fallback>${a(r('Alt'))}</mc:Fallback></mc:AlternateContent><p:graphicFrame><dgm:relIds r:dm="rId7"/></p:graphicFrame></p:sld>`,
        'ppt/slides/_rels/slide1.xml.rels': relations({ rId7: ['diagramData', '../diagrams/data1.xml'] }),
        'ppt/diagrams/data1.xml':
          '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:pt><dgm:t><a:p><a:r><a:t>Planen</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
      }),
    ),
  ).toEqual(['#  @1', '20 m² @1', 'Neu @1', 'Planen @1']);
});

describe('a page', () => {
  it('does not show its navigation, what asks for consent, nor what is closed', async () => {
    const around =
      '<nav><a>Start</a></nav><div role="navigation">Menü</div><div class="cookie-banner">Cookies?</div><dialog>Zu</dialog><dialog open>Auf</dialog>';
    expect(await shown(`${around}<main><h1>Preise</h1><p>Drei Euro.</p></main>`, 'a.html')).toEqual([
      'Auf',
      '# Preise',
      'Drei Euro.',
    ]);
    expect(await shown('<title>Inhalt</title><nav><a>Start</a></nav>', 'a.html')).toEqual(['Inhalt', 'Start']);
  });

  it('keeps what is raised and lowered apart from the digits beside it, and formulas readable', async () =>
    expect(
      await shown(
        '<p>10<sup>6</sup> m<sup>2</sup> H<sub>2</sub>O<sup>[1]</sup> <math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac><annotation>\\frac</annotation></math></p>',
        'a.html',
      ),
    ).toEqual(['10⁶ m² H₂O[1] (a+1)/2']));
});
