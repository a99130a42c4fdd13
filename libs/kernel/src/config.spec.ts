import { readConfig } from '.';

describe('readConfig', () => {
  it('starts without any variable', () => expect(readConfig({})).toMatchObject({ HOST: '127.0.0.1', PORT: 3000, DEFAULT_CURRENCY: 'USD' }));

  it('counts an empty value as unset', () => expect(readConfig({ PORT: '' }).PORT).toBe(3000));

  it('is frozen', () => expect(Object.isFrozen(readConfig({}))).toBe(true));

  it.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['MAX_UPLOAD_BYTES', '0'],
    ['BOOTSTRAP_API_KEY', 'short'],
    ['DEFAULT_TIME_ZONE', 'Mars/Olympus'],
    ['SPACE_CREATION_ROLES', 'admin,king'],
    ['ROLES', 'api'],
  ])('names the variable that is wrong: %s=%s', (name, value) => expect(() => readConfig({ [name]: value })).toThrow(name));
});
