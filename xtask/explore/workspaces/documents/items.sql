CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
INSERT INTO items (name, price) VALUES ('tea', 3), ('coffee', 4), ('juice', 5);
CREATE VIEW cheap AS SELECT name FROM items WHERE price < 5;
