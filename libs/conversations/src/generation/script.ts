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
 * A dialogue, cut into what each speaker says: a line that begins with the name of one and a colon goes to them, as do the lines
 * behind it. What stands before the first such line is said by the first speaker. Names are not spoken.
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
