import { readConfig } from '.';

describe('readConfig', () => {
  it('starts without any variable', () =>
    expect(readConfig({})).toMatchObject({ HOST: '127.0.0.1', PORT: 3000, DEFAULT_CURRENCY: 'USD' }));

  it('counts an empty value as unset', () => expect(readConfig({ PORT: '' }).PORT).toBe(3000));

  it('takes what headers carry without the line break of a file of secrets, and other secrets as they are', () => {
    const [key, token, secret] = ['k'.repeat(32), 't'.repeat(16), `${'s'.repeat(32)}\n`];
    expect(
      readConfig({ BOOTSTRAP_API_KEY: `${key}\n`, METRICS_TOKEN: `${token}\r\n`, VAULT_KEY: secret, SEAL_KEY: secret }),
    ).toMatchObject({ BOOTSTRAP_API_KEY: key, METRICS_TOKEN: token, VAULT_KEY: secret, SEAL_KEY: secret });
    expect(() => readConfig({ METRICS_TOKEN: ' '.repeat(16) })).toThrow(/^METRICS_TOKEN /);
  });

  it('is frozen', () => expect(Object.isFrozen(readConfig({}))).toBe(true));

  it('takes brokers with ports, several, by name and address', () => {
    expect(readConfig({ KAFKA_BROKERS: 'kafka-1.internal:9092, 10.0.0.1:9093,[::1]:9094' }).KAFKA_BROKERS).toEqual([
      'kafka-1.internal:9092',
      '10.0.0.1:9093',
      '[::1]:9094',
    ]);
  });

  it('lets processes share the work where every store is on a server and both keys are given', () => {
    const servers = {
      EVENTSTORE_URL: 'esdb://localhost:2113',
      MONGODB_URL: 'mongodb://localhost',
      ELASTICSEARCH_URL: 'http://localhost:9200',
      S3_URL: 'http://localhost:9000/bucket',
    };
    const keys = { VAULT_KEY: 'v'.repeat(32), SEAL_KEY: 's'.repeat(32) };
    expect(readConfig({ ...servers, ...keys, ROLES: 'projector' }).ROLES).toEqual(['projector']);
    expect(() => readConfig({ ...servers, VAULT_KEY: keys.VAULT_KEY, ROLES: 'api' })).toThrow('SEAL_KEY is not set');
    expect(() => readConfig({ ...servers, ...keys, MONGODB_URL: '', S3_URL: '', ROLES: 'api' })).toThrow(
      'MONGODB_URL, S3_URL are not set',
    );
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['MAX_UPLOAD_BYTES', '0'],
    ['BOOTSTRAP_API_KEY', 'short'],
    ['DEFAULT_TIME_ZONE', 'Mars/Olympus'],
    ['SPACE_CREATION_ROLES', 'admin,king'],
    ['ROLES', 'api'],
    ['BASE_URL', 'javascript:alert(1)'],
    ['ELASTICSEARCH_URL', 'localhost:9200'],
    ['S3_URL', 'file:///var/data'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://localhost:4317'],
    ['KAFKA_BROKERS', 'localhost'],
    ['KAFKA_BROKERS', 'localhost:9092,'],
  ])('names the variable that is wrong: %s=%s', (name, value) =>
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} `)),
  );
});
