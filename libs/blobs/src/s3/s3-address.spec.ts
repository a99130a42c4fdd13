import { s3AddressOf } from './s3-address';

describe('The address of a bucket', () => {
  it('is read with key, secret, port and region', () => {
    expect(s3AddressOf('https://KEY:a%2Fb%2Bc@s3.example.com:9000/files?region=eu-central-1')).toEqual({
      endpoint: 'https://s3.example.com:9000',
      bucket: 'files',
      region: 'eu-central-1',
      credentials: { accessKeyId: 'KEY', secretAccessKey: 'a/b+c' },
    });
  });

  it('leaves credentials to the SDK where it holds none', () => {
    expect(s3AddressOf('http://localhost:9000/files/')).toEqual({
      endpoint: 'http://localhost:9000',
      bucket: 'files',
      region: 'us-east-1',
    });
  });

  it.each([
    'https://KEY:SECRET@s3.example.com',
    'https://KEY:SECRET@s3.example.com/files/deeper',
    'ftp://KEY:SECRET@s3.example.com/files',
    'https://KEY@s3.example.com/files',
  ])('is rejected without its secret when it is wrong: %s', (text) => {
    expect(() => s3AddressOf(text)).toThrow(
      expect.objectContaining({
        name: 'InvalidConfig',
        message: expect.not.stringMatching(/KEY:SECRET@s3/) as string,
      }) as Error,
    );
  });
});
