// SPDX-License-Identifier: Apache-2.0
/* enums.rs - Rust: enums with values, slices, what it does not promise.
 * golden.py compares what args prints of it with golden/. */
pub struct Point { pub x: i32, pub y: i64 }
pub enum Shape { Empty, Round(u32), Rect { w: u16, h: u16 } }
#[inline(never)] #[no_mangle] pub fn look(p: &Point, n: u8, s: &Shape, name: &str, ok: bool, list: &[u32], o: Option<u32>) -> i64 { println!("{}", name); p.x as i64 + n as i64 + list.len() as i64 + o.unwrap_or(1) as i64 + match s { Shape::Empty => 0, Shape::Round(r) => *r as i64, Shape::Rect { w, h } => (*w + *h) as i64 } + ok as i64 }
#[inline(never)] #[no_mangle] pub fn value(p: Point, c: char) -> Point { println!("{}", c); Point { x: p.x + 1, y: p.y } }
fn main() { let p = Point { x: 1, y: 2 }; println!("{}", look(&p, 3, &Shape::Rect { w: 1, h: 2 }, "abc", true, &[1, 2], Some(4))); println!("{}", value(p, 'x').x); look(&Point{x:0,y:0},1,&Shape::Round(2),"",false,&[],None); look(&Point{x:0,y:0},1,&Shape::Empty,"",false,&[],None);}
