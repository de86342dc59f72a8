-- A record as Stillframe with schema 1 wrote it; never changed.
PRAGMA application_id=1397116242;
PRAGMA user_version=2;
BEGIN TRANSACTION;
CREATE TABLE cell(
  place INTEGER NOT NULL, name INTEGER NOT NULL, hit INTEGER NOT NULL, value INTEGER NOT NULL,
  PRIMARY KEY(place, name, hit)) WITHOUT ROWID;
INSERT INTO "cell" VALUES(1,1,1,1);
INSERT INTO "cell" VALUES(1,1,2,4);
INSERT INTO "cell" VALUES(1,1,3,6);
INSERT INTO "cell" VALUES(1,2,1,2);
INSERT INTO "cell" VALUES(1,2,2,5);
INSERT INTO "cell" VALUES(1,2,3,7);
INSERT INTO "cell" VALUES(1,3,1,3);
INSERT INTO "cell" VALUES(1,3,2,3);
INSERT INTO "cell" VALUES(1,3,3,3);
INSERT INTO "cell" VALUES(2,1,4,6);
CREATE TABLE event(
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, run INTEGER, root TEXT NOT NULL, kind TEXT NOT NULL,
  ref INTEGER, text TEXT NOT NULL);
INSERT INTO "event" VALUES(1,1790000001.0,1,'/p','start',NULL,'shop.py');
INSERT INTO "event" VALUES(2,1790000001.0,1,'/p','breakpoint',1,'b1 bound');
INSERT INTO "event" VALUES(3,1790000001.0,1,'/p','output',1,'stdout');
INSERT INTO "event" VALUES(4,1790000001.0,1,'/p','stop',1,'');
INSERT INTO "event" VALUES(5,1790000001.0,1,'/p','output',2,'stdout');
INSERT INTO "event" VALUES(6,1790000001.0,1,'/p','stop',2,'');
INSERT INTO "event" VALUES(7,1790000001.0,1,'/p','output',3,'stdout');
INSERT INTO "event" VALUES(8,1790000001.0,1,'/p','stop',3,'');
INSERT INTO "event" VALUES(9,1790000001.0,1,'/p','stop',4,'');
INSERT INTO "event" VALUES(10,1790000001.0,1,'/p','operation',1,'launch stopped');
INSERT INTO "event" VALUES(11,1790000001.0,1,'/p','end',NULL,'exited 0');
CREATE TABLE fate(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, breakpoint TEXT NOT NULL, time REAL NOT NULL, state TEXT NOT NULL,
  hits INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "fate" VALUES(1,1,'b1',1790000001.0,'bound',0,'{"id":"b1","requested":{"file":"shop.py","line":4},"state":"bound","actual":{"file":"shop.py","line":4}}');
CREATE TABLE frame(id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);
INSERT INTO "frame" VALUES(1,'{"function":"total","file":"shop.py","line":4,"module":"__main__"}');
INSERT INTO "frame" VALUES(2,'{"function":"<module>","file":"shop.py","line":9}');
INSERT INTO "frame" VALUES(3,'{"function":"total","file":"shop.py","line":5,"module":"__main__"}');
CREATE TABLE hit(
  id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL,
  time REAL NOT NULL, step INTEGER NOT NULL, reason TEXT NOT NULL, thread TEXT NOT NULL, stack TEXT NOT NULL,
  print INTEGER NOT NULL, locals TEXT NOT NULL, rest TEXT NOT NULL, UNIQUE(run, number));
INSERT INTO "hit" VALUES(1,1,1,1,1790000001.0,0,'breakpoint','t1','[1,2]',-6190926705671232977,'[[1,1],[2,2],[3,3]]','{"stop":{"state":"stopped","reason":"breakpoint","thread":"t1","stack_total":2,"breakpoints":["b1"]},"printed":[7,0]}');
INSERT INTO "hit" VALUES(2,1,2,1,1790000001.0,0,'breakpoint','t1','[1,2]',1457412103186100879,'[[1,4],[2,5],[3,3]]','{"stop":{"state":"stopped","reason":"breakpoint","thread":"t1","stack_total":2,"breakpoints":["b1"]},"printed":[14,0]}');
INSERT INTO "hit" VALUES(3,1,3,1,1790000001.0,0,'breakpoint','t1','[1,2]',7659754128569894823,'[[1,6],[2,7],[3,3]]','{"stop":{"state":"stopped","reason":"breakpoint","thread":"t1","stack_total":2,"breakpoints":["b1"]},"printed":[21,0]}');
INSERT INTO "hit" VALUES(4,1,4,2,1790000001.0,1,'step','t1','[3,2]',1073349301101117902,'[[1,6]]','{"stop":{"state":"stopped","reason":"step","thread":"t1","stack_total":2},"printed":[21,0]}');
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
INSERT INTO "name" VALUES(1,'i');
INSERT INTO "name" VALUES(2,'item');
INSERT INTO "name" VALUES(3,'name');
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, run INTEGER, root TEXT NOT NULL, name TEXT, op TEXT NOT NULL, args TEXT NOT NULL,
  began REAL NOT NULL, seconds REAL NOT NULL, outcome TEXT NOT NULL);
INSERT INTO "operation" VALUES(1,1,'/p','shop','launch','{"program":["shop.py"]}',1.0,0.5,'stopped');
CREATE TABLE output(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, stream TEXT NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO "output" VALUES(1,1,'stdout',0,X'7475726E20300A');
INSERT INTO "output" VALUES(2,1,'stdout',7,X'7475726E20310A');
INSERT INTO "output" VALUES(3,1,'stdout',14,X'7475726E20320A');
CREATE TABLE place(
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, line INTEGER NOT NULL, symbol TEXT NOT NULL, module TEXT NOT NULL,
  source INTEGER NOT NULL, UNIQUE(file, line, symbol, module, source));
INSERT INTO "place" VALUES(1,'shop.py',4,'total','__main__',1);
INSERT INTO "place" VALUES(2,'shop.py',5,'total','__main__',1);
CREATE TABLE run(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, root TEXT NOT NULL, base TEXT NOT NULL, command TEXT NOT NULL,
  tool TEXT NOT NULL, version TEXT NOT NULL, attached INTEGER NOT NULL, pid INTEGER,
  parent INTEGER, family INTEGER, began REAL NOT NULL, ended REAL, outcome TEXT, end TEXT, daemon TEXT, imported TEXT,
  hits INTEGER NOT NULL DEFAULT 0);
INSERT INTO "run" VALUES(1,'shop','/p','/p','["shop.py"]','debugpy','1.8.22',0,NULL,NULL,1,1790000000.0,1790000002.0,'exited 0','{"state":"exited","exit_code":0}','1:1',NULL,4);
CREATE TABLE saved(name TEXT NOT NULL, root TEXT NOT NULL, run INTEGER NOT NULL, made REAL NOT NULL, PRIMARY KEY(root, name));
INSERT INTO "saved" VALUES('good','/p',1,1.0);
CREATE TABLE source(
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, digest TEXT NOT NULL, first INTEGER NOT NULL, text BLOB NOT NULL,
  UNIQUE(file, digest, first));
INSERT INTO "source" VALUES(1,'shop.py','89b5ba99d822ad63aae3861cab36ad51',1,X'789C4B494D5328C92F49CCD1C82C49CD2DD6B4E2520082FCD212055B0503303B2DBF480124A7909907A68B214A60CAB46DC1A260B1A2D492D2A23C9030005554191E');
CREATE TABLE value(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, text TEXT NOT NULL, number REAL, total INTEGER, rest TEXT);
INSERT INTO "value" VALUES(1,'int','0',0.0,NULL,NULL);
INSERT INTO "value" VALUES(2,'dict','{''qty'': 0, ''sku'': ''a''}',NULL,NULL,NULL);
INSERT INTO "value" VALUES(3,'str','''ann''',NULL,NULL,NULL);
INSERT INTO "value" VALUES(4,'int','1',1.0,NULL,NULL);
INSERT INTO "value" VALUES(5,'dict','{''qty'': 1, ''sku'': ''a''}',NULL,NULL,NULL);
INSERT INTO "value" VALUES(6,'int','2',2.0,NULL,NULL);
INSERT INTO "value" VALUES(7,'dict','{''qty'': 2, ''sku'': ''a''}',NULL,NULL,NULL);
CREATE INDEX run_named ON run(root, name);
CREATE INDEX run_family ON run(family);
CREATE INDEX place_symbol ON place(symbol);
CREATE INDEX hit_place ON hit(run, place, number, print);
CREATE INDEX hit_step ON hit(run, place, step) WHERE step;
CREATE INDEX output_run ON output(run, stream, at);
CREATE INDEX fate_run ON fate(run, breakpoint);
CREATE INDEX operation_run ON operation(run);
CREATE INDEX event_run ON event(run);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run',1);
INSERT INTO "sqlite_sequence" VALUES('event',11);
INSERT INTO "sqlite_sequence" VALUES('hit',4);
COMMIT;
