/** Who says something in a dialogue, and by which voice. */
export interface Speaker {
  readonly name: string;
  readonly voiceName: string;
}

/** What one voice says at a stretch. */
export interface Passage {
  readonly voice: string;
  readonly text: string;
}

/**
 * A dialogue, cut by speakers: a line that begins with a speaker's name and a colon belongs to that speaker, and so do
 * the lines after it. The first speaker says everything before the first such line. Names are not spoken.
 */
export const passagesOf = (text: string, speakers: readonly Speaker[]): readonly Passage[] => {
  const passages: { voice: string; text: string }[] = [];
  let voice = speakers[0]?.voiceName ?? '';
  for (const line of text.split('\n')) {
    const speaker = speakers.find(({ name }) => line.trimStart().startsWith(`${name}:`));
    if (speaker !== undefined) voice = speaker.voiceName;
    const said = speaker === undefined ? line : line.trimStart().slice(speaker.name.length + 1);
    const last = passages.at(-1);
    if (last?.voice === voice) last.text += `\n${said}`;
    else passages.push({ voice, text: said });
  }
  return passages
    .map((passage) => ({ ...passage, text: passage.text.trim() }))
    .filter((passage) => passage.text !== '');
};
