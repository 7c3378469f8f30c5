// SPDX-License-Identifier: Apache-2.0
/* enums.rs - Rust: enums with values, slices, what it does not promise.
 * golden.py compares what follows the marks with what args prints, of this program compiled so. */
pub struct Point { pub x: i32, pub y: i64 }
pub enum Shape { Empty, Round(u32), Rect { w: u16, h: u16 } }
#[inline(never)] #[no_mangle] pub fn look(p: &Point, n: u8, s: &Shape, name: &str, ok: bool, list: &[u32], o: Option<u32>) -> i64 { println!("{}", name); p.x as i64 + n as i64 + list.len() as i64 + o.unwrap_or(1) as i64 + match s { Shape::Empty => 0, Shape::Round(r) => *r as i64, Shape::Rect { w, h } => (*w + *h) as i64 } + ok as i64 }
#[inline(never)] #[no_mangle] pub fn value(p: Point, c: char) -> Point { println!("{}", c); Point { x: p.x + 1, y: p.y } }
fn main() { let p = Point { x: 1, y: 2 }; println!("{}", look(&p, 3, &Shape::Rect { w: 1, h: 2 }, "abc", true, &[1, 2], Some(4))); println!("{}", value(p, 'x').x); look(&Point{x:0,y:0},1,&Shape::Round(2),"",false,&[],None); look(&Point{x:0,y:0},1,&Shape::Empty,"",false,&[],None);}

//x86_64 look(struct Point* p at r0, u8 n at r1, struct Shape* s at r2, struct &str name at r3,r4, bool ok at r5, struct &[u32] list at none: Rust does not say where it is passed, struct Option<u32> o at none: Rust does not say where what is before it is passed) -> int64
//x86_64 value(struct Point p at r0,r1, char c at r2) -> -

//members look(struct Point* p at r0, u8 n at r1, struct Shape* s at r2, struct &str name at r3,r4, bool ok at r5, struct &[u32] list at none: Rust does not say where it is passed, struct Option<u32> o at none: Rust does not say where what is before it is passed) -> int64
//members     struct Point: 16 bytes
//members       8 int32 x
//members       0 int64 y
//members     struct Shape: 8 bytes
//members       0 uint16 discriminant
//members       0 struct Empty Empty
//members         struct Empty: 8 bytes
//members       0 struct Round Round
//members         struct Round: 8 bytes
//members           4 uint32 __0
//members       0 struct Rect Rect
//members         struct Rect: 8 bytes
//members           2 uint16 w
//members           4 uint16 h
//members     struct &str: 16 bytes
//members       0 u8 * data_ptr
//members       8 uint64 length
//members     struct &[u32]: 16 bytes
//members       0 u32 * data_ptr
//members       8 uint64 length
//members     struct Option<u32>: 8 bytes
//members       0 uint32 discriminant
//members       0 struct None None
//members         struct None: 8 bytes
//members       0 struct Some Some
//members         struct Some: 8 bytes
//members           4 uint32 __0
