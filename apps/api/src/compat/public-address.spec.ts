import { isPublicAddress } from './public-address';

describe('an address that a provider may fetch from', () => {
  it.each(['https://example.com/a.png', 'http://93.184.216.34/a', 'https://example.com:8443/a?b#c', 'https://[2606:2800:220:1::1]/a', 'data:image/png;base64,AA==', 'data:image/jpeg,x', 'data:audio/wav;base64,AA==', 'DATA:IMAGE/WEBP;base64,AA=='])('may be %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    'http://127.0.0.1/', 'http://0/', 'http://127.1/', 'http://0x7f000001/', 'http://2130706433/', 'http://0177.0.0.1/', 'http://[::1]/', 'http://[::]/', 'http://[::ffff:7f00:1]/', 'http://[::ffff:169.254.169.254]/', 'http://[64:ff9b::a9fe:a9fe]/', 'http://[fd00:ec2::254]/', 'http://[fe80::1]/',
    'http://169.254.169.254/latest/meta-data', 'http://100.100.100.200/', 'http://10.0.0.1/', 'http://172.31.0.1/', 'http://192.168.0.1/',
    'http://localhost/', 'http://LOCALHOST./', 'http://a.localhost/', 'http://metadata/', 'http://metadata.google.internal/', 'http://redis:6379/', 'http://printer.local/',
    'http://ok@127.0.0.1/', 'http://user:pass@example.com/', 'http://127.0.0.1#@example.com', 'http:\\\\127.0.0.1/', 'http://①②⑦.0.0.1/',
    'file:///etc/passwd', 'gopher://example.com/', 'ftp://example.com/', 'javascript:alert(1)', '//example.com/a', '/a', 'a', '',
    'data:image/svg+xml,<svg/>', 'data:IMAGE/SVG+XML;base64,AA==', 'data:text/html,x', 'data:,x', 'data:image/', 'data:image/png',
  ])('is not %j', (address) => expect(isPublicAddress(address)).toBe(false));
});
