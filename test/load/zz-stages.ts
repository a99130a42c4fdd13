import { openSqliteEventLog, openSqliteLogReader } from '@app/event-log';
import { systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting';
import { openSqliteReadStore } from '@app/read-store';
import Database from 'better-sqlite3';
import { note, noteMeta, notesCodec, notesView } from './notes';
import { rmSync, existsSync } from 'node:fs';
const D='/tmp/eng3';
const EVENTS=100_000, STREAMS=20_000;
const cpu=async(f:()=>unknown)=>{const t=process.cpuUsage();await f();const u=process.cpuUsage(t);return (u.user+u.system)/EVENTS};
const bare=(file:string)=>{
  const source = new Database(D+'/log/events.sqlite', { readonly: true });
  const target = new Database(file); target.pragma('journal_mode = WAL'); target.pragma('synchronous = NORMAL');
  target.exec('create table rows(key text primary key, position integer not null, row text not null) without rowid');
  const read = source.prepare('select position, stream, type, data, metadata from events where position > ? order by position limit ?').raw();
  const upsert = target.prepare('insert into rows values (?, ?, ?) on conflict (key) do update set position = excluded.position, row = excluded.row');
  let position = 0;
  for (;;) { const rows = read.all(position, 1000) as any[]; if (rows.length === 0) break;
    target.transaction(() => { for (const [at, stream, , text, metadata] of rows) {
        const data = JSON.parse(text); const { recordedAt } = JSON.parse(metadata);
        upsert.run(stream, at, JSON.stringify({ title: data.title, pinned: data.pinned, size: data.size, updatedAt: recordedAt })); position = at; } })(); }
  source.close(); target.close();
};
(async () => {
  if (!existsSync(D+'/log')) {
    const log = await openSqliteEventLog({ folder: D+'/log' });
    for (let start = 0; start < EVENTS; start += 500) {
      await Promise.all(Array.from({ length: 500 }, async (_, index) => {
        const number = start + index; const stream = `note-${number % STREAMS}`; const revision = Math.floor(number / STREAMS);
        const events = await notesCodec.encode(stream, [{ type: 'NoteWritten', data: note(number) }], noteMeta(), {});
        await log.append(stream, events, revision === 0 ? 'noStream' : revision - 1);
      }));
    }
    await log.close();
  }
  rmSync(D+'/views',{recursive:true,force:true});
  for (let i=0;i<9;i++) rmSync(D+`/bare${i}`,{force:true});
  const log = await openSqliteLogReader({ folder:D+'/log' });
  const readStore = await openSqliteReadStore({ folder: D+'/views', inThread: true });
  const w = rebuildWorker({ log, readStore, codec: notesCodec, clock: systemClock, projections: [notesView] } as never);
  const res: Record<string, number[]> = {};
  const add=async(k:string,f:()=>unknown)=>{(res[k]??=[]).push(await cpu(f));};
  const read=async(each:(events:any)=>unknown)=>{let after:any=null;for(;;){const p=await log.readAll({after,limit:4000,filter:{types:['NoteWritten']}});await each(p.events);after=p.next;if(p.end)return;}};
  for (let version=1;version<=7;version++) {
    await add('bare',()=>bare(D+`/bare${version}`));
    await add('read',()=>read(()=>0));
    await add('read+decode',()=>read((e)=>notesCodec.decode(e)));
    await add('read+decode+apply',()=>read(async(e)=>(await notesCodec.decode(e)).map((x)=>notesView.apply(x))));
    await add('build',()=>w.build({ view: 'notes', version, fence: 1, skip: [] }));
  }
  const med=(v:number[])=>v.sort((x,y)=>x-y)[3]!;
  for (const k of Object.keys(res)) console.log(k.padEnd(20), med(res[k]!).toFixed(2));
  console.log('ratio', (med(res['bare']!)/med(res['build']!)).toFixed(2));
  await readStore.close(); await log.close();
})();
